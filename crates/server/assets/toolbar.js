// The annotation toolbar. Nothing here yet: pages work without it.
