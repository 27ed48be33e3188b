open("@marks@/loaded", "w").close()
print("BREACH: loaded", __name__, flush=True)
