"""What there is to do, as a table: the curriculum for `headway list`."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.curriculum import Curriculum


def render(curriculum: Curriculum, selected: tuple[str, ...], console: Console) -> None:
    """Print the selected functions by assignment, and what each is compared with."""
    table = Table(box=None, pad_edge=False, header_style="dim", show_header=False)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(style="dim", overflow="fold")
    for assignment in curriculum.assignments:
        functions = [function for function in assignment.functions if function.qualified in selected]
        if functions:
            table.add_row(Text(str(assignment.number), "bold"), Text(assignment.module, "bold"), Text(assignment.title))
        for function in functions:
            bonus = " (bonus)" if function.bonus else ""
            table.add_row(
                "",
                Text(f"  {function.name}"),
                Text(f"against {function.yardstick}{bonus}" if function.torch else bonus.strip()),
            )
    console.print(table)
    console.print(Text("\nOne verdict: headway check NAME or headway check NAME.function"))
