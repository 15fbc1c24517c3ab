"""Ideas of chapter 25: RMSNorm, rotary positions, SwiGLU, shared heads, the turned cache."""
