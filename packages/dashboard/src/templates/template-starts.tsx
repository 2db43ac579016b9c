import { Link } from 'wouter';
import { EXAMPLE_TEMPLATES } from './example-templates.js';
import './templates.css';

/** Templates to begin with, and a blank one. */
export function TemplateStarts() {
  return (
    <ul className="start-cards">
      {EXAMPLE_TEMPLATES.map(({ id, title, description }) => (
        <li key={id} className="card">
          <Link href={`/templates/new?example=${id}`}>{title}</Link>
          <p className="muted">{description}</p>
        </li>
      ))}
      <li className="card">
        <Link href="/templates/new?example=blank">Write or paste a template</Link>
        <p className="muted">A definition with parameters of your own, as JSON.</p>
      </li>
    </ul>
  );
}
