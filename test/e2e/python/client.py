"""A client that shares nothing with the service but the descriptors of its API.

Usage: client.py ADDRESS DESCRIPTOR_SET < script.json > results.json

Plays calls over one channel and prints how each ended. A script is a list of {"method", "requests"}: a unary method
has one request; of a stream, each request is sent only after the reply to the one before it has arrived.
"""

import json
import queue
import sys

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

DEADLINE_SECONDS = 20


def load_pool(path):
    files = descriptor_pb2.FileDescriptorSet()
    with open(path, "rb") as source:
        files.ParseFromString(source.read())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    return pool


def message_class(pool, descriptor):
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory(pool).GetPrototype(descriptor)


class Client:
    def __init__(self, channel, pool):
        self.channel = channel
        self.pool = pool

    def play(self, call):
        service, name = call["method"].split("/")
        method = self.pool.FindServiceByName(service).methods_by_name[name]
        request_class = message_class(self.pool, method.input_type)
        reply_class = message_class(self.pool, method.output_type)
        requests = [json_format.ParseDict(one, request_class()) for one in call["requests"]]
        path = "/" + call["method"]
        codec = dict(request_serializer=request_class.SerializeToString, response_deserializer=reply_class.FromString)
        try:
            if call.get("stream"):
                replies = self.stream(self.channel.stream_stream(path, **codec), requests)
            else:
                replies = [self.channel.unary_unary(path, **codec)(requests[0], timeout=DEADLINE_SECONDS)]
        except grpc.RpcError as error:
            return {"code": error.code().name, "details": self.detail_types(error)}
        return {"code": "OK", "replies": [self.plain(reply) for reply in replies]}

    @staticmethod
    def stream(rpc, requests):
        to_send = queue.Queue()
        replies = rpc(iter(to_send.get, None), timeout=DEADLINE_SECONDS)
        received = []
        for request in requests:
            to_send.put(request)
            received.append(next(replies))
        to_send.put(None)
        received.extend(replies)
        return received

    def plain(self, message):
        return json_format.MessageToDict(
            message, preserving_proto_field_name=True, descriptor_pool=self.pool
        )

    def detail_types(self, error):
        for key, value in error.trailing_metadata():
            if key == "grpc-status-details-bin":
                status_class = message_class(self.pool, self.pool.FindMessageTypeByName("google.rpc.Status"))
                return [detail.type_url.split("/")[-1] for detail in status_class.FromString(value).details]
        return []


def main():
    address, descriptor_set = sys.argv[1:]
    script = json.load(sys.stdin)
    with grpc.insecure_channel(address) as channel:
        client = Client(channel, load_pool(descriptor_set))
        json.dump([client.play(call) for call in script], sys.stdout)


if __name__ == "__main__":
    main()
