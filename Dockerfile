# Grade a class in a container. Build it in a clone of this repository:
#
#   docker build --tag headway .
#   docker run --rm --volume "$PWD/submissions:/class:ro" --volume "$PWD/results:/results" headway \
#       grade /class --out /results
#
# The sandbox inside the container is Landlock with seccomp, which Docker's default settings allow. `docker run --rm
# headway doctor` shows the level on your machine. docs/instructors.md says more.
FROM python:3.12-slim-bookworm

RUN apt-get update \
    && apt-get install --yes --no-install-recommends libseccomp2 \
    && rm -rf /var/lib/apt/lists/*

# From PyTorch's own index comes the CPU build, a tenth of the size of the one on PyPI.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
COPY . /headway
RUN pip install --no-cache-dir --constraint /headway/constraints.txt --extra-index-url "$TORCH_INDEX" \
    "/headway[torch,class,sandbox,notebooks]"

# Nothing needs to run as root. Give the results to yourself: docker run --user "$(id -u):$(id -g)" …
RUN useradd --create-home grader && mkdir /class /results && chown grader /results
USER grader
ENV HEADWAY_CACHE=/tmp/headway
ENTRYPOINT ["headway"]
CMD ["--help"]
