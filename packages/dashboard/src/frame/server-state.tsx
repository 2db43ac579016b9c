import { useServer } from '../health/use-server.js';
import '../health/health.css';
import { Link } from 'wouter';

/** Health, revision and version of the server; the reasons are on the first page. */
export function ServerState() {
  const { info, word, problems } = useServer();
  const reasons = problems.map(({ title }) => title).join('; ');
  return (
    <div className="server-state">
      <Link href="/" className={`health ${word}`} title={reasons === '' ? `The server is ${word}` : reasons}>
        <span className="dot" aria-hidden="true" />
        {word}
      </Link>
      {info !== undefined && (
        <span className="muted" title={`Version ${info.version}`}>
          rev {String(info.revision)}
        </span>
      )}
    </div>
  );
}
