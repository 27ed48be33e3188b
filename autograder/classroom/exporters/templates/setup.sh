#!/usr/bin/env bash
# Runs once, when the image is built: installs Python 3.11 or later, the sandbox, and Headway's dependencies.
set -euo pipefail
cd /autograder/source
apt-get update
apt-get install -y bubblewrap libseccomp2
python=python3
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    apt-get install -y python3.11 python3.11-venv
    python=python3.11
fi
"$python" -c 'import ensurepip' || apt-get install -y python3-venv
"$python" -m venv venv
venv/bin/python -m pip install --disable-pip-version-check -r requirements.txt
chmod +x run_autograder
