import { CallerCard } from '../session/caller-card.js';
import { scopeWords } from '../session/scope-words.js';
import { Page } from '../ui/page/page.js';
import { Empty } from '../ui/states.js';

/** Stands for a page whose scope the caller does not have. */
export default function MissingScope({ scope }: { readonly scope: string }) {
  return (
    <Page title="Not for this key">
      <Empty title="This key cannot open the page">
        <p>
          It needs the scope <code>{scope}</code>, to {scopeWords(scope)}.
        </p>
      </Empty>
      <CallerCard />
    </Page>
  );
}
