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
