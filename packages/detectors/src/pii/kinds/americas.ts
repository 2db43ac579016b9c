import { digitAt, isDate, isRepeated, luhn, numberIn, weightedSum } from './checksums.js';
import type { ShapedKind } from './kind.js';

/** Numbers that were printed in advertisements, and belong to no person (SSA, History of the SSN). */
const ADVERTISED_SSNS = new Set(['078051120', '219099999', '123456789', '457555462']);

function isSsn(code: string): boolean {
  const area = numberIn(code, 0, 3);
  if (area === 0 || area === 666 || area >= 900) return false;
  return (
    numberIn(code, 3, 5) > 0 && numberIn(code, 5, 9) > 0 && !ADVERTISED_SSNS.has(code) && !isRepeated(code)
  );
}

function isItin(code: string): boolean {
  if (digitAt(code, 0) !== 9) return false;
  const group = numberIn(code, 3, 5);
  return (
    (group >= 50 && group <= 65) ||
    (group >= 70 && group <= 88) ||
    (group >= 90 && group <= 99 && group !== 93)
  );
}

const CPF_FIRST = [10, 9, 8, 7, 6, 5, 4, 3, 2];
const CNPJ_FIRST = [5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];

/** The check digit of CPF and CNPJ: 11 less the remainder; 10 and 11 are written 0. */
function brazilianDigit(code: string, weights: readonly number[]): number {
  const rest = weightedSum(code, weights) % 11;
  return rest < 2 ? 0 : 11 - rest;
}

function isCpf(code: string): boolean {
  return (
    !isRepeated(code) &&
    brazilianDigit(code, CPF_FIRST) === digitAt(code, 9) &&
    brazilianDigit(code, [11, ...CPF_FIRST]) === digitAt(code, 10)
  );
}

function isCnpj(code: string): boolean {
  return (
    !isRepeated(code) &&
    brazilianDigit(code, CNPJ_FIRST) === digitAt(code, 12) &&
    brazilianDigit(code, [6, ...CNPJ_FIRST]) === digitAt(code, 13)
  );
}

const CURP_ORDER = '0123456789ABCDEFGHIJKLMN_OPQRSTUVWXYZ';

function isCurp(code: string): boolean {
  const sex = code[10] ?? '';
  const century = digitAt(code, 16) <= 9 ? 1900 : 2000;
  if (!'HMX'.includes(sex)) return false;
  if (!isDate(century + numberIn(code, 4, 6), numberIn(code, 6, 8), numberIn(code, 8, 10))) return false;
  let sum = 0;
  // The letter Ñ, which never occurs in a code, has the value 24.
  for (let at = 0; at < 17; at += 1) sum += CURP_ORDER.indexOf(code[at] ?? '') * (18 - at);
  return (10 - (sum % 10)) % 10 === digitAt(code, 17);
}

const PERSON = ['tax', 'taxpayer', 'tin'];

export const AMERICAS: readonly ShapedKind[] = [
  {
    name: 'us_ssn',
    region: 'US',
    title: 'Social Security number: ranges that are assigned; it has no check digit',
    source: 'Social Security Administration, POMS RM 10201.030',
    shapes: { 9: 0.1, '3-2-4': 0.75, '3 2 4': 0.6, '3.2.4': 0.4 },
    check: isSsn,
    context: [
      'ssn',
      'ssns',
      'social security',
      'socialsecurity',
      'social',
      'soc sec',
      'seguro social',
      ...PERSON,
    ],
  },
  {
    name: 'us_itin',
    region: 'US',
    title: 'Individual Taxpayer Identification Number: ranges that are assigned',
    source: 'Internal Revenue Service, IRM 3.21.263',
    shapes: { 9: 0.1, '3-2-4': 0.7, '3 2 4': 0.5 },
    check: isItin,
    context: ['itin', ...PERSON],
  },
  {
    name: 'ca_sin',
    region: 'CA',
    title: 'Social Insurance Number: Luhn',
    source: 'Employment and Social Development Canada, Social Insurance Number Code of Practice',
    shapes: { 9: 0.15, '3-3-3': 0.5, '3 3 3': 0.45 },
    check: (code) => !'08'.includes(code[0] ?? '') && luhn(code) && !isRepeated(code),
    context: ['sin', 'social insurance', 'assurance sociale', 'nas'],
  },
  {
    name: 'br_cpf',
    region: 'BR',
    title: 'Cadastro de Pessoas Físicas: two check digits modulo 11',
    source: 'Receita Federal do Brasil, Instrução Normativa RFB 2172/2024',
    shapes: { 11: 0.45, '3.3.3-2': 0.95, '9-2': 0.7 },
    check: isCpf,
    context: ['cpf', 'pessoa física', 'pessoas físicas', 'contribuinte'],
  },
  {
    name: 'br_cnpj',
    region: 'BR',
    title: 'Cadastro Nacional da Pessoa Jurídica: two check digits modulo 11',
    source: 'Receita Federal do Brasil, Instrução Normativa RFB 2119/2022',
    shapes: { 14: 0.4, '2.3.3/4-2': 0.95, '8/4-2': 0.8 },
    check: isCnpj,
    context: ['cnpj', 'pessoa jurídica', 'empresa'],
  },
  {
    name: 'mx_curp',
    region: 'MX',
    title: 'Clave Única de Registro de Población: date, sex and check digit',
    source: 'RENAPO, Instructivo Normativo para la Asignación de la CURP (DOF 2021-06-18)',
    shapes: { LLLLDDDDDDLLLLLLDD: 0.95, LLLLDDDDDDLLLLLLLD: 0.95 },
    check: isCurp,
    context: ['curp'],
  },
];
