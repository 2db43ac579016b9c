import { StepDataError } from '../errors.js';

/** Whether two values are the same as JSON, in the order of their members. */
export function isSameData(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** What a model gave as arguments of a tool: data, or the text that it is, if it is no JSON. */
export function parsedArguments(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Why messages do not get to a model that controls want to change in a way that they cannot be changed in. */
export function unchangeableMessages(): StepDataError {
  const message = 'The model was not called: its messages cannot be changed as controls demand.';
  return new StepDataError(message, 'model', 'pre');
}

/** Those of the members of data that it has, in this order. */
export function shownMembers(
  data: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Record<string, unknown> {
  const given = names.filter((name) => data[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, data[name]]));
}

/** A file in a message, as its framework has it. */
export interface MessageFile {
  readonly type: string;
  readonly mediaType?: string | undefined;
  readonly name?: string | undefined;
  /** Its address, or a data URL (RFC 2397). */
  readonly url?: string | undefined;
  readonly text?: string | undefined;
  /** Its bytes, or these in base64. */
  readonly data?: Uint8Array | string | undefined;
}

/** A file as controls see it: its type, name and address, and its text if it has one. Of images and the like they see no more. */
export function shownFile({ type, mediaType, name, url, text, data }: MessageFile): Record<string, unknown> {
  const [, urlType, encoding, content] = /^data:([^;,]*)([^,]*),(.*)$/is.exec(url ?? '') ?? [];
  const media = mediaType ?? urlType;
  const shown = { type, ...(media ? { media_type: media } : {}), ...(name === undefined ? {} : { name }) };
  if (text !== undefined) return { ...shown, text };
  if (content === undefined && url !== undefined)
    return /^[a-z][a-z\d+.-]*:/i.test(url) ? { ...shown, url } : shown;
  if (!/^text(\/|$)|^application\/(json|xml)|\+(json|xml)/i.test(media ?? '')) return shown;
  if (content !== undefined && !/;base64$/i.test(encoding ?? ''))
    return { ...shown, text: unescaped(content) };
  return { ...shown, text: decoded(content ?? data ?? '') };
}

/** The text in bytes or base64; what is no base64 as it is. */
function decoded(data: Uint8Array | string): string {
  if (typeof data !== 'string') return new TextDecoder().decode(data);
  try {
    const bytes = atob(data.replaceAll('-', '+').replaceAll('_', '/'));
    return new TextDecoder().decode(Uint8Array.from(bytes, (one) => one.charCodeAt(0)));
  } catch {
    return data;
  }
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
