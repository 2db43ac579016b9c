import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { NO_SNIFFING } from './safe-replies.js';

/** The files of one folder, sent with the headers of caches and in parts if a caller asks for them. */
export interface Files {
  /** Sends one of them; not found if it is none of them. */
  send(request: FastifyRequest, reply: FastifyReply, name: string): Promise<FastifyReply>;
}

export interface FilesOptions {
  readonly folder: string;
  /** Names in the folder. No other name reaches the file system. */
  readonly names: ReadonlySet<string>;
  /** How long a cache keeps them. */
  readonly maxAgeMs: number;
  /** Whether a cache need not ask again in that time; not by default. */
  readonly immutable?: boolean;
  /** Whether `a.js.br` is `a.js`, compressed with Brotli, and is sent instead of it; not by default. */
  readonly preCompressed?: boolean;
}

/** Encodings of files that are kept compressed, best first, and how the names of those files end. */
const ENDINGS = { br: '.br', gzip: '.gz' } as const;
type Encoding = keyof typeof ENDINGS;
const ENCODINGS = Object.keys(ENDINGS) as Encoding[];
const NOT_MODIFIED = 304;

export function createFiles(files: FilesOptions): Files {
  const { folder, names, maxAgeMs, immutable = false, preCompressed = false } = files;
  const options = { root: folder, dotfiles: 'ignore', index: false, maxAge: maxAgeMs, immutable } as const;
  return {
    async send(request, reply, name) {
      if (!names.has(name)) {
        reply.callNotFound();
        return reply;
      }
      // Most processes never serve a file.
      const [{ default: send }, { negotiate }] = await Promise.all([
        import('@fastify/send'),
        import('@fastify/accept-negotiator'),
      ]);
      const kept = preCompressed ? ENCODINGS.filter((encoding) => names.has(name + ENDINGS[encoding])) : [];
      // Callers that take any encoding may not know Brotli.
      const accepted = request.headers['accept-encoding']?.toString().toLowerCase().replaceAll('*', 'gzip');
      const encoding = (accepted === undefined ? null : negotiate(accepted, kept)) as Encoding | null;
      if (preCompressed) varyByEncoding(reply);
      const sent = encoding === null ? name : name + ENDINGS[encoding];
      const found = await send(request.raw, `/${encodeURIComponent(sent)}`, options);
      if (found.type === 'error') {
        // It was removed since the start.
        if ((found.metadata.error as { status?: number }).status !== 404) throw found.metadata.error;
        reply.callNotFound();
        return reply;
      }
      reply
        .code(found.statusCode)
        .headers(found.headers)
        .header(...NO_SNIFFING);
      const isFile = found.statusCode !== NOT_MODIFIED;
      if (isFile || encoding !== null) reply.header('content-type', typeOf(send, name));
      if (encoding !== null) reply.header('content-encoding', encoding);
      return reply.send(found.stream);
    },
  };
}

/** The type of a file by its own name: that of its compressed file says nothing. */
function typeOf({ mime, isUtf8MimeType }: Pick<Send, 'mime' | 'isUtf8MimeType'>, name: string): string {
  const type = mime.getType(name) ?? 'application/octet-stream';
  return isUtf8MimeType(type) ? `${type}; charset=utf-8` : type;
}

type Send = typeof import('@fastify/send');

function varyByEncoding(reply: FastifyReply): void {
  const before = reply.getHeader('vary');
  reply.header('vary', before === undefined ? 'Accept-Encoding' : `${before}, Accept-Encoding`);
}

/** The error handler of routes that send files: the client of a file whose reading was broken off is gone. */
export function fileErrors(error: FastifyError, request: FastifyRequest): void {
  if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  request.raw.destroy();
}
