import { z } from 'zod';
import { boolean, list, nullable, text, withDefault } from '../../../../src/contract/input/fields.js';
import type { Evaluator } from '../../../../src/kernel/core/evaluator.js';
import { type CompiledDetector, createDetector, type Detect, threshold } from '../detector/detector.js';
import { knownWord } from '../detector/known-word.js';
import { findUrls, MAX_URL_LENGTH, OPAQUE_SCHEMES, type UrlCandidate } from './find-urls.js';
import { createHostMatcher, hostPattern } from './host-rules.js';
import { plainAuthorities } from './plain-authority.js';
import { hasHost, type ReadUrl, readUrl } from './read-url.js';
import {
  DEFAULT_FORBIDDEN,
  FORBIDDABLE,
  isRedirect,
  SCORES,
  UNREADABLE_WHERE_DENIED,
  type UrlRules,
  violationsOf,
} from './violations.js';

const MAX_HOSTS = 10_000;
const MAX_SCHEMES = 64;
/** How much lower violations of URLs without scheme score: what has no scheme may be something else. */
export const WITHOUT_SCHEME = 0.2;
/** Search steps of one URL: some 3 µs. */
const STEPS_PER_URL = 250;
/** Units of a text that are read in the time of one search step. */
const UNITS_PER_STEP = 4;
const BYTES_PER_HOST = 200;
/** Violations of one text after which nothing more is searched. No fewer than a check reports. */
const MAX_FINDINGS = 10_000;

const configSchema = z.object({
  allow_hosts: nullable(list(hostPattern(), { max: MAX_HOSTS })).meta({
    description:
      'Hosts that URLs may have: example.com for that host, *.example.com for all names below it, with :8443 behind it ' +
      'for that port alone. With an empty list, none. URLs that clients do not read alike are violations then.',
  }),
  deny_hosts: nullable(list(hostPattern(), { max: MAX_HOSTS })).meta({
    description: 'Hosts that URLs may not have, also when they are allowed.',
  }),
  schemes: nullable(
    list(text({ min: 2, max: 32, pattern: /^[a-z][a-z0-9+.-]*$/ }), { min: 1, max: MAX_SCHEMES }),
  ).meta({ description: 'Schemes that URLs may have, in lower case and without colon. Default: all.' }),
  forbid: nullable(list(knownWord(FORBIDDABLE, 'form of a URL'), { max: FORBIDDABLE.length })).meta({
    description: `What URLs may not have or be. Default: ${DEFAULT_FORBIDDEN.join(', ')}.`,
  }),
  bare_hosts: withDefault(boolean(), false).meta({
    description:
      'Whether example.com/path, without scheme and slashes, is a URL too. www.example.com always is. Default false.',
  }),
  threshold: threshold(0.5),
});

type UrlConfig = z.output<typeof configSchema>;

/** Finds URLs whose host, scheme or form a configuration does not allow, as a client of HTTP would read them. */
export const urlEvaluator: Evaluator = createDetector<UrlConfig>({
  name: 'url',
  version: '1.0.0',
  description: 'Finds URLs whose host, scheme or form is not allowed, as a client of HTTP would read them.',
  configSchema,
  compile: compileUrl,
});

function compileUrl(config: UrlConfig): CompiledDetector {
  const { allow_hosts, deny_hosts, schemes, forbid, bare_hosts, threshold } = config;
  const rules: UrlRules = {
    isAllowed: allow_hosts === undefined ? null : createHostMatcher(allow_hosts),
    isDenied: deny_hosts === undefined ? null : createHostMatcher(deny_hosts),
    schemes: schemes === undefined ? null : new Set(schemes),
    forbidden: new Set(forbid ?? DEFAULT_FORBIDDEN),
  };
  const { forbidden } = rules;
  const hasLists = rules.isAllowed !== null || rules.isDenied !== null;
  const hosts = (allow_hosts?.length ?? 0) + (deny_hosts?.length ?? 0);
  const detect: Detect = (text, found, spend) => {
    const candidates = wholeUrl(text) ?? findUrls(text, bare_hosts);
    const odd = candidates[0]?.start === text.search(/\S/) ? undefined : oddUrl(text);
    if (odd !== undefined) candidates.unshift(odd);
    const behind = (index: number) => candidates[index + 1]?.start ?? text.length;
    spend(text.length / UNITS_PER_STEP + candidates.length * STEPS_PER_URL);
    const isPlain = hasLists ? plainAuthorities(text) : undefined;
    let count = 0;
    let outer: ReadUrl | null = null;
    for (const [index, candidate] of candidates.entries()) {
      if (count >= MAX_FINDINGS) return;
      const { form, start, end, isNested } = candidate;
      const read = readUrl(text.slice(start, end), form);
      const kinds = read === null ? [] : violationsOf(read, rules);
      if (isPlain !== undefined && !isReadAlike(read, () => isPlain(candidate, behind(index)))) {
        kinds.push('unreadable');
      }
      const around = isNested && forbidden.has('redirect') ? outer : null;
      if (read !== null && around !== null && isRedirect(read, around, rules)) kinds.push('redirect');
      if (forbidden.has('markdown_image') && isImage(text, start) && isForeign(read, rules)) {
        kinds.push('markdown_image');
      }
      const lower = form === 'absolute' ? 0 : WITHOUT_SCHEME;
      for (const kind of kinds) {
        const certain =
          kind === 'unreadable' && rules.isAllowed === null ? UNREADABLE_WHERE_DENIED : SCORES[kind];
        const score = Math.round((certain - lower) * 100) / 100;
        if (score >= threshold) count += 1;
        found({ kind, start, end, score });
      }
      if (!isNested) outer = read;
    }
  };
  return { threshold, sizeBytes: 4096 + hosts * BYTES_PER_HOST, detect };
}

/** Whether it is known which host clients contact for a URL. Those of schemes without a host contact none. */
function isReadAlike(read: ReadUrl | null, isPlain: () => boolean): boolean {
  return read !== null && (OPAQUE_SCHEMES.has(read.scheme) || !hasHost(read) || isPlain());
}

const LEFT_OUT_IN = /[\t\n\r]/;
const LEFT_OUT = /[\t\n\r]/g;
const WITH_SLASHES = /^(?:[a-z][a-z0-9+.-]{1,31}:[/\\]|[/\\]{2})/i;

/**
 * A text that is a URL with tabs or line ends in it, and nothing else: a client that is given it leaves them out, so that
 * its host may be none of those that the lines have.
 */
function wholeUrl(text: string): UrlCandidate[] | null {
  if (text.length > MAX_URL_LENGTH || !LEFT_OUT_IN.test(text)) return null;
  const start = text.length - text.trimStart().length;
  const end = text.trimEnd().length;
  const inner = text.slice(start, end);
  if (!LEFT_OUT_IN.test(inner) || inner.includes(' ')) return null;
  const read = inner.replaceAll(LEFT_OUT, '');
  if (!WITH_SLASHES.test(read) || read.indexOf('://') !== read.lastIndexOf('://')) return null;
  return [{ form: /^[/\\]/.test(read) ? 'relative' : 'absolute', start, end, isNested: false }];
}

/** A scheme, slashes and a name behind what running text has behind a URL: clients skip it or take it for a part of the name. */
const SEPARATED = /^[a-z][a-z0-9+.-]{1,31}:[/\\]+(?:\s+[^\s.@:]*[.@:][^\s.,;:!?]|[^\s/\\]*[\p{L}\p{N}_])/iu;
/** A word that is a URL for the standard alone: of a known scheme without slashes, or of slashes without a scheme. */
const ODD_WORD = /^(?:(?:https?|wss?|ftp):[^/\\\s][^\s.]*\.[^\s.]|[/\\]{2,}[\p{L}\p{N}_])\S*$/iu;

/** A text that begins as a URL does where running text has none. */
function oddUrl(text: string): UrlCandidate | undefined {
  const start = text.length - text.trimStart().length;
  const begin = text.slice(start, start + MAX_URL_LENGTH).trimEnd();
  const separated = SEPARATED.exec(begin)?.[0];
  if (separated !== undefined)
    return { form: 'absolute', start, end: start + separated.length, isNested: false };
  if (!ODD_WORD.test(begin.replaceAll(LEFT_OUT, ''))) return undefined;
  return {
    form: /^[/\\]/.test(begin) ? 'relative' : 'absolute',
    start,
    end: start + begin.length,
    isNested: false,
  };
}

/** How far before a URL the start of an image is looked for. */
const IMAGE_REACH = 300;

/** `![text](URL)` of Markdown, and `src=` of an `img` of HTML: clients fetch these without a click. */
function isImage(text: string, start: number): boolean {
  const before = text.slice(Math.max(0, start - IMAGE_REACH), start);
  const opening = before.lastIndexOf('](');
  if (opening >= 0 && /^\s*<?\s*$/.test(before.slice(opening + 2))) {
    const image = before.lastIndexOf('![', opening);
    return image >= 0 && image >= before.lastIndexOf('](', opening - 1);
  }
  const tag = before.lastIndexOf('<');
  return (
    tag >= 0 && /^<img\s/i.test(before.slice(tag, tag + 5)) && /src\s*=\s*["']?$/i.test(before.slice(-12))
  );
}

function isForeign(read: ReadUrl | null, { isAllowed }: UrlRules): boolean {
  return read === null || isAllowed === null || !isAllowed(read.host, read.port);
}
