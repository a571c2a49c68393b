"""Every test of the file tools runs with each way there is of opening folders."""

from pathlib import Path

import pytest

from finchbot.tools.deps import ToolDeps
from finchbot.tools.factory import ToolFactory
from finchbot.tools.files import tools
from finchbot.tools.files.checked import CheckedFolder
from finchbot.tools.files.descriptors import DescriptorFolder
from finchbot.tools.files.folder import OpenRoot
from finchbot.tools.files.opening import Border
from finchbot.tools.registry import ToolRegistry
from tests.tools.conftest import RememberedTitles, describe, spelled


@pytest.fixture(params=[DescriptorFolder, CheckedFolder])
def open_root(request: pytest.FixtureRequest) -> OpenRoot:
    opening: OpenRoot = request.param.at
    return opening


@pytest.fixture
def registry(titles: RememberedTitles, open_root: OpenRoot) -> ToolRegistry:
    factory = ToolFactory(
        switched_off={"files"}, extra=[lambda deps: tools(deps, open_root=open_root)]
    )
    return factory.registry(ToolDeps(titles, spelled), describe)


@pytest.fixture
def border(workspace: Path, open_root: OpenRoot) -> Border:
    return Border(workspace, (workspace,), open_root)
