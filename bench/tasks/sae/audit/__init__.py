"""The audit of proxies: do they order coders and latents as the truth does, and what moves them that should not?"""
