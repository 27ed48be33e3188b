for name, attempt in ATTEMPTS.items():
    try:
        attempt()
    except Exception:
        continue
    print("BREACH:", name, flush=True)
