import { once } from 'node:events';
import http from 'node:http';

/**
 * Begins an evaluation of which the service has seen the headers; the result sends the rest and returns the status.
 */
export async function openEvaluation(
  url: string,
  evaluation: object,
): Promise<() => Promise<number | undefined>> {
  const body = JSON.stringify(evaluation);
  const open = http.request(`${url}/api/v1/evaluation`, {
    method: 'POST',
    agent: false,
    headers: {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      expect: '100-continue',
    },
  });
  const answered = once(open, 'response') as Promise<[http.IncomingMessage]>;
  // The caller learns of a failure when it asks for the status.
  answered.catch(() => {});
  open.flushHeaders();
  await once(open, 'continue');
  return async () => {
    open.end(body);
    const [response] = await answered;
    response.resume();
    return response.statusCode;
  };
}
