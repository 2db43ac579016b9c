import { useServer } from '../health/use-server.js';
import '../health/health.css';
import { Link } from 'wouter';
import { VERDICT_TEXTS } from '../health/verdict.js';

/** The verdict in one word, and the revision of the controls; the reasons are on the first page. */
export function ServerState() {
  const { info, word, problems } = useServer();
  const reasons = problems.map(({ title }) => title).join('; ');
  return (
    <div className="server-state">
      <Link href="/" className={`health ${word}`} title={reasons === '' ? VERDICT_TEXTS[word] : reasons}>
        <span className="dot" aria-hidden="true" />
        {VERDICT_TEXTS[word]}
      </Link>
      {info !== undefined && (
        <span className="muted" title={`Version ${info.version}`}>
          rev {String(info.revision)}
        </span>
      )}
    </div>
  );
}
