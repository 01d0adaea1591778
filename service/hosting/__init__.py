"""What the host sees of his house and may do in it; imports tables and below."""
