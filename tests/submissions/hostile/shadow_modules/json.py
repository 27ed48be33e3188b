HOSTILE = True
print("BREACH: loaded", __name__, flush=True)
