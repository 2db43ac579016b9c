import { IconBookmark } from '@tabler/icons-react';
import { useEffect, useRef } from 'react';
import { useSearch, useSearchParams } from 'wouter';
import { Popover } from '../popover/popover.js';
import { SaveView } from './save-view.js';
import { useViews } from './use-views.js';
import { ViewRow } from './view-row.js';
import { type SavedView, viewsOf } from './views.js';
import './saved-views.css';

interface SavedViewsProps {
  /** Path of the page. */
  readonly page: string;
}

/** The views of a page that are saved in this browser: they are opened, renamed, deleted, and one is the default. */
export function SavedViews({ page }: SavedViewsProps) {
  const [views, store] = useViews();
  const search = useSearch();
  const [, setParameters] = useSearchParams();
  const own = viewsOf(views, page);
  useDefaultView(own);
  const shown = own.find((view) => view.search === search);
  return (
    <Popover
      label="Saved views"
      buttonLabel={shown === undefined ? 'Views' : `Views: ${shown.name}`}
      button={
        <>
          <IconBookmark size={16} aria-hidden="true" />
          {shown === undefined ? 'Views' : <bdi className="view-name">{shown.name}</bdi>}
        </>
      }
    >
      {(close) => (
        <div className="views">
          {own.length === 0 ? (
            <p className="muted">
              A view keeps the filters and the range of this page under a name, in this browser.
            </p>
          ) : (
            <ul aria-label="Views of this page">
              {own.map((view) => (
                <ViewRow
                  key={view.name}
                  view={view}
                  views={views}
                  isShown={view === shown}
                  onStore={store}
                  onOpen={() => {
                    setParameters(new URLSearchParams(view.search));
                    close();
                  }}
                />
              ))}
            </ul>
          )}
          <SaveView page={page} search={search} views={views} onStore={store} />
        </div>
      )}
    </Popover>
  );
}

/** Opens the default view of a page that is opened without any filter. */
function useDefaultView(views: readonly SavedView[]): void {
  const search = useSearch();
  const [, setParameters] = useSearchParams();
  const isOpened = useRef(false);
  useEffect(() => {
    if (isOpened.current) return;
    isOpened.current = true;
    const view = views.find(({ isDefault }) => isDefault);
    if (view === undefined || search !== '') return;
    setParameters(new URLSearchParams(view.search), { replace: true });
  }, [views, search, setParameters]);
}
