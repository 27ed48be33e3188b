"""The benchmark "Wrong transformers": right and wrong implementations of the functions of the course.

`dataset` makes the data set, `scoring` scores the answers of a runner, which `runner_process` starts. A runner is any
command that reads questions and writes answers, one JSON object a line. Three are included: `headway_runner`,
`allclose_runner` and `naive_runner`. `docs/benchmark.md` describes the format.
"""
