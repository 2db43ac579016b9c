import { Link } from 'wouter';
import { Page } from '../ui/page/page.js';
import { Empty } from '../ui/states.js';

/** Says that writing controls needs another key. */
export function AdminOnly({ title }: { readonly title: string }) {
  return (
    <Page title={title}>
      <Empty title="This key cannot write controls">
        <p>
          It needs the scope <code>controls.write</code>, which the roles editor and admin have. Sign in with
          another key, or look at <Link href="/controls">the controls</Link>.
        </p>
      </Empty>
    </Page>
  );
}

/** Says that a control is written through its template. */
export function FromTemplate({ controlId, name }: { readonly controlId: number; readonly name: string }) {
  return (
    <Page title={`Edit ${name}`}>
      <Empty title="This control is made from a template">
        <p>Its condition follows from the values of the template, so these are edited instead.</p>
        <p className="links centered">
          <Link href={`/controls/${controlId}/template`}>Edit the values</Link>
          <Link href={`/controls/new?copy=${controlId}`}>Copy it as a control of its own</Link>
        </p>
      </Empty>
    </Page>
  );
}
