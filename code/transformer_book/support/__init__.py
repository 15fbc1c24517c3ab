"""What all parts of the package lean on, no chapter teaches: arguments, files, processes, time."""
