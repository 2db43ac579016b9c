import { ProtocolError, SdkHttpError } from '@modelcontextprotocol/client';

/** Texts of servers that do not know a session. */
const ABOUT_SESSION =
  /session.{0,40}(?:not found|unknown|invalid|expired|terminated|missing|required|closed|does not exist|not exist)|(?:unknown|invalid|expired|no valid|no such|missing|bad|find|found).{0,20}session|not (?:been |yet )?initiali[sz]ed/i;

/**
 * What an error says of the session of a connection: `lost`, so that the request was refused before it ran; `suspected`, if a
 * tool could say the same; undefined if it is about something else.
 */
export function sessionAfter(error: unknown): 'lost' | 'suspected' | undefined {
  if (error instanceof SdkHttpError) {
    const { status } = error;
    const text = String((error.data as { readonly text?: unknown } | undefined)?.text ?? '');
    if (status === 404 || status === 410) return 'lost';
    if (status !== 400) return undefined;
    return ABOUT_SESSION.test(text) ? 'lost' : 'suspected';
  }
  return error instanceof ProtocolError && ABOUT_SESSION.test(error.message) ? 'suspected' : undefined;
}

/** Whether an answer is an error about the session alone, of no request: some servers send it with the status of a success. */
export function isSessionRefusal(text: string): boolean {
  try {
    const { id = null, error } = JSON.parse(text) as {
      readonly id?: unknown;
      readonly error?: { readonly message?: unknown };
    };
    return id === null && ABOUT_SESSION.test(String(error?.message ?? ''));
  } catch {
    return false;
  }
}
