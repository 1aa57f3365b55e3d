"""The studio: a page on this machine on which people choose a mechanism, and the interface behind it."""
