import { describe, expect, it } from 'vitest';
import {
  MAX_VIEWS,
  readViews,
  type SavedView,
  saveProblem,
  viewsOf,
  withDefault,
  withoutView,
  withView,
  writeViews,
} from '../src/ui/saved-views/views.js';

const view = (name: string, more: Partial<SavedView> = {}): SavedView => ({
  page: '/events',
  name,
  search: 'outcome=denied',
  isDefault: false,
  ...more,
});

describe('saved views', () => {
  it('are read as they were written', () => {
    const views = [view('one'), view('two', { isDefault: true })];
    expect(readViews(writeViews(views))).toEqual(views);
  });

  it('are none if what is stored is of another version, or by somebody else', () => {
    const stored = [
      null,
      '',
      '{',
      'null',
      '[]',
      '{"version":2,"views":[]}',
      '{"version":1,"views":[1,{"name":"x"}]}',
    ];
    for (const text of stored) expect([text, readViews(text)]).toEqual([text, []]);
  });

  it('are those of a page, by name, and one of them is its default', () => {
    const views = [view('b 10'), view('b 9'), view('a'), view('a', { page: '/audit', isDefault: true })];
    expect(viewsOf(views, '/events').map(({ name }) => name)).toEqual(['a', 'b 9', 'b 10']);
    const chosen = withDefault(withDefault(views, view('a')), view('b 9'));
    expect(chosen.filter(({ isDefault }) => isDefault).map(({ page, name }) => [page, name])).toEqual([
      ['/events', 'b 9'],
      ['/audit', 'a'],
    ]);
    const none = withDefault(chosen, view('b 9'));
    expect(none.filter(({ isDefault }) => isDefault)).toHaveLength(1);
  });

  it('replace the one with the same name of the same page', () => {
    const views = withView([view('a'), view('a', { page: '/audit' })], view('a', { search: 'agent=b' }));
    expect(viewsOf(views, '/events').map(({ search }) => search)).toEqual(['agent=b']);
    expect(withoutView(views, view('a')).map(({ page }) => page)).toEqual(['/audit']);
  });

  it('need a name, and are not more than a browser keeps', () => {
    expect(saveProblem([], view(' '))).toBe('A view needs a name.');
    expect(saveProblem([], view('x'.repeat(101)))).toBe('A name has at most 100 characters.');
    expect(saveProblem([], view('a', { search: 'x'.repeat(9_000) }))).toContain('too long');
    const full = Array.from({ length: MAX_VIEWS }, (_, index) => view(`view ${index}`));
    expect(saveProblem(full, view('one more'))).toContain('50 views already');
    expect(saveProblem(full, view('view 7'))).toBeUndefined();
  });
});
