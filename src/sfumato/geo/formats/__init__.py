"""The formats that visits come in: one file each."""
