import { scopeWords } from './scope-words.js';

/** Scopes in words, each with its name. */
export function ScopeList({ scopes }: { readonly scopes: readonly string[] }) {
  return (
    <ul>
      {[...scopes].sort().map((scope) => (
        <li key={scope}>
          {scopeWords(scope)} <code className="muted">{scope}</code>
        </li>
      ))}
    </ul>
  );
}
