import type { MessageInitShape } from '@bufbuild/protobuf';
import type { PublishEventsRequestSchema } from '../../gen/proto/enforcement/v1/observability_service_pb.js';

/** A message of a stream of published events. */
export type Message = MessageInitShape<typeof PublishEventsRequestSchema>;

/** Messages that are sent one by one, when the test says so. */
export function sender() {
  const waiting: Message[] = [];
  let ended = false;
  let wake = () => {};
  async function* messages(): AsyncGenerator<Message> {
    for (;;) {
      const message = waiting.shift();
      if (message !== undefined) yield message;
      else if (ended) return;
      else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  }
  return {
    messages: messages(),
    send(...more: Message[]) {
      waiting.push(...more);
      wake();
    },
    end() {
      ended = true;
      wake();
    },
  };
}
