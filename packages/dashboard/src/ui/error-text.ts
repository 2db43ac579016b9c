import { Code, ConnectError } from '@connectrpc/connect';

/** What a failed call means for the viewer. */
export function errorText(error: unknown): { readonly title: string; readonly detail: string } {
  const failure = ConnectError.from(error);
  const detail = failure.rawMessage;
  if (!navigator.onLine) return { title: 'No network', detail: 'The browser is offline.' };
  switch (failure.code) {
    case Code.NotFound:
      return { title: 'Not found', detail };
    case Code.PermissionDenied:
      return { title: 'Not allowed', detail };
    case Code.Unauthenticated:
      return {
        title: 'The session had ended',
        detail: 'This was not done: the session had ended. Try again.',
      };
    case Code.InvalidArgument:
      return { title: 'The server does not accept this request', detail };
    case Code.Unavailable:
      return { title: 'The server is not available', detail };
    case Code.Unknown:
      return { title: 'The server cannot be reached', detail };
    default:
      return { title: 'The call failed', detail };
  }
}
