"""Web page and HTTP interface on this machine for choosing a mechanism."""
