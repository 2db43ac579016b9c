import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import fc from 'fast-check';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { Router } from 'wouter';
import { addressWith, termsOfAddress } from '../src/ui/query-bar/query-address.js';
import { QueryBar } from '../src/ui/query-bar/query-bar.js';
import { type QueryMember, type QueryTerm, withTerm } from '../src/ui/query-bar/query-member.js';
import { printTerm, readQuery } from '../src/ui/query-bar/query-text.js';
import { askedMembers, suggestionsFor, typedPart } from '../src/ui/query-bar/suggestions.js';
import { useQueryTerms } from '../src/ui/query-bar/use-query-terms.js';

const NAME: QueryMember = { name: 'name', hint: 'a part of the name' };
const OUTCOME: QueryMember = {
  name: 'outcome',
  hint: 'what happened',
  isMultiple: true,
  values: [{ value: 'denied' }, { value: 'none', text: 'no match' }],
};
const CONTROL: QueryMember = {
  name: 'control',
  hint: 'name or id',
  aliases: ['control_id'],
  isMultiple: true,
  isSearched: true,
  separator: ',',
  read: (text) => (/^\d+$/.test(text) ? { value: text } : { isUnknown: true }),
  suggest: async () => [],
};
const MEMBERS = [NAME, OUTCOME, CONTROL];

const shown = (terms: readonly QueryTerm[]) =>
  terms.map(({ member, value, problem, isUnknown }) =>
    [`${member.name}:${value}`, problem === undefined ? '' : 'problem', isUnknown === true ? '?' : ''].join(
      '',
    ),
  );
const read = (typed: string, textMember?: QueryMember) => {
  const { terms, rest, problem } = readQuery(typed, MEMBERS, textMember);
  return { terms: shown(terms), rest, problem };
};
const termsOf = (address: string) => shown(termsOfAddress(new URLSearchParams(address), MEMBERS));

describe('a typed query', () => {
  it('has a term for each member with a value; values with spaces are in quotes', () => {
    expect(read('name:one outcome:denied').terms).toEqual(['name:one', 'outcome:denied']);
    expect(read('NAME: one').terms).toEqual(['name:one']);
    expect(read('outcome:"no match" name:"a \\"b\\" c"').terms).toEqual(['outcome:none', 'name:a "b" c']);
    expect(read('name:"not closed').terms).toEqual(['name:not closed']);
    expect(read('control_id:7').terms).toEqual(['control:7']);
    expect(read('control:no-cards').terms).toEqual(['control:no-cards?']);
    expect(read('')).toEqual({ terms: [], rest: '', problem: undefined });
  });

  it('keeps what cannot be read, with what is possible', () => {
    expect(read('outcome:denied color:red')).toEqual({
      terms: ['outcome:denied'],
      rest: 'color:red',
      problem: 'Nothing can be filtered by “color”. Possible are: name, outcome, control.',
    });
    expect(read('outcome:refused').problem).toBe(
      '“refused” is not a value of outcome. Possible are: denied, no match.',
    );
    expect(read('outcome:').problem).toBe('outcome needs a value, for example outcome:denied.');
    expect(read('no-cards').problem).toContain('“no-cards” does not say what to filter by.');
    expect(read(`name:${'x'.repeat(1_025)}`).problem).toBe('A value has at most 1024 characters.');
  });

  it('takes texts without a member as values of that of the page', () => {
    expect(read('pay ment outcome:denied', NAME).terms).toEqual(['outcome:denied', 'name:pay ment']);
    expect(read('http://a', NAME).terms).toEqual(['name:http://a']);
  });

  it('is read as it is printed, whatever the value', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' }), (value) => {
        fc.pre(value.trim() !== '');
        const printed = `${printTerm('name', value)} ${printTerm('outcome', 'no match')}`;
        expect(read(printed).terms).toEqual([`name:${value.trim()}`, 'outcome:none']);
      }),
    );
  });
});

describe('the query of an address', () => {
  it('has the parameters that are members, in their order, and those of earlier versions', () => {
    expect(termsOf('tab=x&outcome=denied&name=a&control=1,-2,x&control_id=4')).toEqual([
      'outcome:denied',
      'name:a',
      'control:1',
      'control:-2?',
      'control:x?',
      'control:4',
    ]);
    expect(termsOf('name=&name=b&name=c')).toEqual(['name:c']);
  });

  it('does not lose what cannot be read', () => {
    expect(termsOf('outcome=refused')).toEqual(['outcome:refusedproblem']);
  });

  it('is written with the other parameters of the page', () => {
    const parameters = new URLSearchParams('tab=x&control_id=4&name=a');
    const terms = withTerm(termsOfAddress(parameters, MEMBERS), { member: NAME, value: 'b' });
    expect(addressWith(parameters, MEMBERS, terms).toString()).toBe('tab=x&control=4&name=b');
    expect(addressWith(parameters, MEMBERS, []).toString()).toBe('tab=x');
  });
});

describe('suggestions', () => {
  const suggested = (typed: string, terms: readonly QueryTerm[] = [], textMember?: QueryMember) => {
    const part = typedPart(typed, MEMBERS);
    const found = new Map([[CONTROL, [{ value: '3', text: 'no-cards' }]]]);
    const asked = askedMembers(part, MEMBERS);
    const known = new Map([...found].filter(([member]) => asked.includes(member)));
    return suggestionsFor(part, MEMBERS, terms, known, textMember).map(({ member, value }) =>
      value === undefined ? member.name : `${member.name}:${value.text ?? value.value}`,
    );
  };

  it('are the members at first, then what has the typed text in it', () => {
    expect(suggested('')).toEqual(['name', 'outcome', 'control']);
    expect(suggested('o')).toEqual(['outcome', 'control', 'outcome:no match', 'control:no-cards']);
    expect(suggested('cards', [], NAME)).toEqual(['name:cards', 'control:no-cards']);
  });

  it('are the values of a member after its colon, without those that the query has', () => {
    expect(suggested('name:a outcome:')).toEqual(['outcome:denied', 'outcome:no match']);
    expect(suggested('outcome:', [{ member: OUTCOME, value: 'denied' }])).toEqual(['outcome:no match']);
    expect(suggested('outcome:"no m')).toEqual(['outcome:no match']);
    expect(suggested('control:')).toEqual(['control:no-cards']);
    expect(suggested('name:a ')).toEqual(['name', 'outcome', 'control']);
  });
});

describe('the bar', () => {
  function Things() {
    return <QueryBar label="Filter things" query={useQueryTerms(MEMBERS)} />;
  }
  const markupOf = (search: string) =>
    renderToStaticMarkup(
      <QueryClientProvider client={new QueryClient()}>
        <Router ssrPath="/things" ssrSearch={search}>
          <Things />
        </Router>
      </QueryClientProvider>,
    );

  it('is a combobox, with a chip for each term of the address', () => {
    const markup = markupOf('outcome=none&name=a');
    expect(markup).toContain('role="combobox" aria-label="Filter things" aria-autocomplete="list"');
    expect(markup).toContain('aria-label="Remove outcome: no match"');
    expect(markup).toContain('aria-label="Remove name: a"');
    expect(markup).toContain('aria-invalid="false"');
  });

  it('says why a term of the address cannot be used', () => {
    const markup = markupOf('outcome=refused');
    expect(markup).toContain('aria-invalid="true"');
    expect(markup).toMatch(/role="alert">“refused” is not a value of outcome/);
    expect(markup).toContain('query-chip wrong');
  });
});
