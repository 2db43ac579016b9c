"""Watches the controls of an agent with the usual limits of grpcio until it has all of them.

Usage: watch.py ADDRESS DESCRIPTOR_SET AGENT > result.json
"""

import json
import sys

import grpc

from client import load_pool, message_class

DEADLINE_SECONDS = 120


def main(address, descriptors, agent):
    pool = load_pool(descriptors)
    method = pool.FindServiceByName("enforcement.v1.AgentService").methods_by_name["WatchControls"]
    request = message_class(pool, method.input_type)(agent_name=agent)
    reply_class = message_class(pool, method.output_type)
    with grpc.insecure_channel(address) as channel:
        watch = channel.unary_stream(
            "/enforcement.v1.AgentService/WatchControls",
            request_serializer=type(request).SerializeToString,
            response_deserializer=reply_class.FromString,
        )
        ids, values, messages = [], set(), 0
        stream = watch(request, timeout=DEADLINE_SECONDS)
        for message in stream:
            messages += 1
            controls = message.full.controls or message.changed.upserted
            ids += [control.id for control in controls]
            values |= {len(control.control.condition.evaluator.config["values"]) for control in controls}
            if not message.incomplete:
                break
        stream.cancel()
    print(json.dumps({"ids": ids, "values": sorted(values), "messages": messages}))


if __name__ == "__main__":
    main(*sys.argv[1:])
