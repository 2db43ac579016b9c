import { RE2JS } from 're2js';

/** Longest template that is looked at, in UTF-16 code units. */
const MAX_TEMPLATE = 2_000;

/**
 * Whether an address is of a template (RFC 6570), as far as it decides whom to ask. By an expression that takes no longer than the
 * address is long: a server chooses the template.
 */
export function fits(template: unknown, uri: string): boolean {
  if (typeof template !== 'string' || template.length > MAX_TEMPLATE) return false;
  const pattern = template
    .split(/(\{[^{}]*\})/)
    .map((part, index) => (index % 2 === 0 ? RE2JS.quote(part) : /^\{\w/.test(part) ? '[^/?#]*' : '.*'))
    .join('');
  return RE2JS.compile(pattern).matches(uri);
}

/** Whether a name is one of several patterns, in which `*` stands for any text. */
export function matcherOf(patterns: readonly string[]): (name: string) => boolean {
  const parts = patterns.map((pattern) => pattern.split('*'));
  return (name) =>
    parts.some(([first = '', ...others]) => {
      if (others.length === 0) return name === first;
      const last = others.pop() ?? '';
      if (!name.startsWith(first) || name.length < first.length + last.length || !name.endsWith(last))
        return false;
      const end = name.length - last.length;
      let at = first.length;
      for (const part of others) {
        const found = name.indexOf(part, at);
        if (found === -1 || found + part.length > end) return false;
        at = found + part.length;
      }
      return true;
    });
}
