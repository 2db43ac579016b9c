"""What controls see of calls of chat models of LangChain: the same as with the adapter for TypeScript."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping


def messages_data(messages: Any) -> Dict[str, Any]:
    """The input of the step of a model: its messages with their roles, texts and calls of tools."""
    shown = messages.to_messages() if hasattr(messages, "to_messages") else messages
    return {"messages": [_message_data(one) for one in (shown if isinstance(shown, (list, tuple)) else [shown])]}


def reply_data(reply: Any) -> Dict[str, Any]:
    """The output of the step: text, calls of tools, further parts such as thoughts, and tokens."""
    content = getattr(reply, "content", reply)
    blocks = content if isinstance(content, list) else [content]
    parts = [_block_data(one) for one in blocks if not _is_text(one)]
    reasoning = (getattr(reply, "additional_kwargs", None) or {}).get("reasoning_content")
    if isinstance(reasoning, str):
        parts.append({"type": "reasoning", "text": reasoning})
    data: Dict[str, Any] = {"text": "".join(_text_of(one) for one in blocks if _is_text(one))}
    # Those that are no JSON are text that a model wrote, too.
    calls = _calls_of(reply, "tool_calls") + _calls_of(reply, "invalid_tool_calls")
    usage = getattr(reply, "usage_metadata", None)
    if calls:
        data["tool_calls"] = calls
    if parts:
        data["parts"] = parts
    if usage:
        data["usage"] = {name: usage[name] for name in ("input_tokens", "output_tokens") if name in usage}
    return data


def _message_data(message: Any) -> Any:
    if isinstance(message, str):
        return {"role": "human", "content": message}
    if isinstance(message, (list, tuple)):
        role, content = message
        return {"role": role, "content": content}
    if not hasattr(message, "content"):
        return message
    content = message.content
    shown = content if isinstance(content, str) else [_block_data(one) for one in content]
    calls = _calls_of(message, "tool_calls")
    return {"role": getattr(message, "type", None), "content": {"text": shown, "tool_calls": calls} if calls else shown}


def _calls_of(message: Any, member: str) -> List[Dict[str, Any]]:
    return [{"name": one.get("name"), "input": one.get("args")} for one in getattr(message, member, None) or ()]


def _block_data(block: Any) -> Any:
    """A block with its texts, such as those of a thought. Of images and files controls see the type alone."""
    if not isinstance(block, Mapping):
        return block
    own = next((block[name] for name in ("text", "reasoning", "thinking") if isinstance(block.get(name), str)), None)
    return {"type": block.get("type")} if own is None else {"type": block.get("type"), "text": own}


def _is_text(block: Any) -> bool:
    return isinstance(block, str) or (isinstance(block, Mapping) and block.get("type") == "text")


def _text_of(block: Any) -> str:
    return block if isinstance(block, str) else str(block.get("text", ""))
