"""Uses `tessera mcp` through the Python SDK, in the current version of the protocol and with the older `initialize`.

Arguments: the program, then the modes of the SDK's client."""

import asyncio
import os
import re
import sys

from mcp import Client, MCPError, StdioServerParameters


async def use(client, mode):
    async def called(name, given):
        reply = await client.call_tool(name, given)
        return reply.content[0].text, reply.is_error

    tools = (await client.list_tools()).tools
    assert 7 <= len(tools) <= 10 and all(tool.title and tool.description for tool in tools), tools
    stored, _ = await called("memory_store", {"content": f"The {mode} importer writes to bucket amber-{mode}"})
    identity = re.search(r"#(\d+)", stored).group(1)
    found, _ = await called("memory_recall", {"query": f"{mode} importer bucket", "max_tokens": 300})
    assert f"amber-{mode}" in found, found
    some, _ = await called("memory_get", {"ids": [identity, "4711"]})
    assert "No memory: #4711" in some, some
    await called("memory_forget", {"ids": [identity]})
    restored, _ = await called("memory_restore", {"ids": [identity]})
    assert "Restored" in restored, restored
    _, failed = await called("memory_get", {"ids": ["4711"]})
    assert failed
    recent = await client.read_resource("memory://recent")
    assert "importer" in recent.contents[0].text, recent
    try:
        await client.read_resource("memory://4711")
        raise AssertionError("a missing resource was read")
    except MCPError as error:
        assert error.error.code == -32602, error
    assert len((await client.list_resource_templates()).resource_templates) == 2
    prompts = (await client.list_prompts()).prompts
    assert [prompt.name for prompt in prompts] == ["remember", "recall", "memory_guide"], prompts
    prompt = await client.get_prompt("recall", {"topic": f"{mode} importer bucket"})
    assert f"amber-{mode}" in prompt.messages[0].content.text, prompt
    print(f"Python SDK: protocol {client.protocol_version}")


async def main(program, *modes):
    server = StdioServerParameters(command=program, args=["mcp"], env=dict(os.environ))
    for mode in modes:
        async with Client(server, mode=mode) as client:
            await use(client, mode)


asyncio.run(main(*sys.argv[1:]))
