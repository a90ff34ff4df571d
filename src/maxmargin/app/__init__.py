"""What people use: files, commands, reports and the studio."""
