import type { PackSummary } from '@gen/enforcement/v1/pack_service_pb.js';
import { Link } from 'wouter';

interface PackProps {
  readonly pack: PackSummary;
}

/** The evaluators that a pack uses, and its labels. */
export function PackTags({ pack: { evaluators, tags } }: PackProps) {
  return (
    <p className="pack-tags">
      {evaluators.map((name) => (
        <Link key={name} className="tag" href={`/evaluators/${encodeURIComponent(name)}`}>
          {name}
        </Link>
      ))}
      {tags.map((tag) => (
        <span key={tag} className="tag" dir="auto">
          {tag}
        </span>
      ))}
    </p>
  );
}

/** That some of the controls cannot be evaluated by this service as it is. */
export function MissingEvaluators({ pack: { missingEvaluators } }: PackProps) {
  if (missingEvaluators.length === 0) return null;
  return (
    <p className="notice">
      This service does not have, or has not configured: {missingEvaluators.join(', ')}. Controls that use{' '}
      {missingEvaluators.length === 1 ? 'it' : 'them'} end in errors until then.
    </p>
  );
}

/** A text of a pack, with what is between backticks as code. */
export function PackText({ text }: { readonly text: string }) {
  const parts = text.split('`');
  return (
    <p dir="auto">
      {parts.map((part, index) =>
        // Every other part is between two of them.
        index % 2 === 1 && index < parts.length - 1 ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a text have no other identity
          <code key={index}>{part}</code>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a text have no other identity
          <span key={index}>{part}</span>
        ),
      )}
    </p>
  );
}

/** What a control covers of a published list; an address leads there. */
export function Reference({ reference }: { readonly reference: string }) {
  if (!/^https:\/\/[^\s]+$/.test(reference)) {
    return (
      <span className="tag" dir="auto">
        {reference}
      </span>
    );
  }
  return (
    <a className="tag" href={reference} target="_blank" rel="noreferrer">
      {reference.replace('https://', '')}
    </a>
  );
}
