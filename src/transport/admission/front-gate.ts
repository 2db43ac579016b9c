import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { Admission } from './admission.js';
import type { CallClass } from './call-class.js';
import type { CallTicket } from './call-ticket.js';

/** What a call needs and costs, as far as its path tells. */
export interface PathClass {
  readonly callClass: CallClass;
  /** What it costs without a key, in units of a simple request. */
  readonly publicUnits: number;
  /** Whether it is answered under overload too: what tells the state of the service costs little. */
  readonly isOperational: boolean;
}

/** A call that is refused, as it came in. */
export interface RefusedCall {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

export interface FrontGateOptions {
  readonly admission: Admission;
  readonly classOf: (path: string) => PathClass;
  /** Answers a call that goes no further, in the words of its protocol, at as little cost as possible. */
  readonly refuse: {
    stream(error: unknown, call: RefusedCall, stream: ServerHttp2Stream): void;
    request(error: unknown, call: RefusedCall, response: ServerResponse): void;
  };
}

/**
 * Stands before Fastify. Calls that need no key are bounded here, before anything is done for them, and wait for their
 * turn; those whose callers have gone away by then are forgotten. What needs a key is left to the entrance behind it, which
 * knows the key.
 */
export interface FrontGate {
  /** Hands a stream on, now or later, or refuses it. */
  stream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, handOn: () => void): void;
  /** The same for a request of HTTP/1. */
  request(request: IncomingMessage, response: ServerResponse, handOn: () => void): void;
  /** The ticket of a call, by its stream or request of HTTP/1; a new one for a call that did not come this way. */
  ticketOf(raw: object, connection: object | undefined, headers: IncomingHttpHeaders): CallTicket;
}

/** How a call is known to the gate, whatever version of HTTP it came over. */
interface RawCall {
  readonly key: object;
  readonly connection: object | undefined;
  readonly call: RefusedCall;
  onClose(listener: () => void): void;
  isGone(): boolean;
  refuse(error: unknown): void;
}

export function createFrontGate({ admission, classOf, refuse }: FrontGateOptions): FrontGate {
  const tickets = new WeakMap<object, CallTicket>();

  function pass(raw: RawCall, handOn: () => void): void {
    const { callClass, publicUnits, isOperational } = classOf(raw.call.path);
    if (callClass !== 'public') {
      handOn();
      return;
    }
    const ticket = admission.ticket(raw.connection, raw.call.headers['x-forwarded-for']);
    try {
      if (!isOperational) admission.checkLoad('public');
      ticket.takePublicPlace(publicUnits);
      raw.onClose(() => ticket.end());
      tickets.set(raw.key, ticket);
      admission.takeTurn('public', handOn, () => raw.isGone());
    } catch (error) {
      ticket.end();
      raw.refuse(error);
    }
  }

  return {
    stream(stream, headers, handOn) {
      const call = { path: pathOf(String(headers[':path'] ?? '')), headers };
      pass(
        {
          key: stream,
          connection: stream.session,
          call,
          onClose: (listener) => void stream.once('close', listener),
          isGone: () => stream.destroyed || stream.closed,
          refuse: (error) => refuse.stream(error, call, stream),
        },
        handOn,
      );
    },
    request(request, response, handOn) {
      const call = { path: pathOf(request.url ?? ''), headers: request.headers };
      pass(
        {
          key: request,
          connection: request.socket,
          call,
          onClose: (listener) => void response.once('close', listener),
          isGone: () => response.destroyed || response.closed,
          refuse(error) {
            refuse.request(error, call, response);
            admission.peerOf(request.socket)?.ignoreRest();
          },
        },
        handOn,
      );
    },
    ticketOf(raw, connection, headers) {
      return tickets.get(raw) ?? admission.ticket(connection, headers['x-forwarded-for']);
    },
  };
}

function pathOf(target: string): string {
  const end = target.indexOf('?');
  return end === -1 ? target : target.slice(0, end);
}
