import { AMERICAS } from './americas.js';
import { ASIA_PACIFIC_AFRICA } from './asia-pacific-africa.js';
import { IN_CONTEXT } from './in-context.js';
import type { ShapedKind } from './kind.js';
import { OTHER_EUROPE } from './other-europe.js';
import { creditCard } from './payment.js';
import { WESTERN_EUROPE } from './western-europe.js';

/** All kinds that are found by their shape. */
export const SHAPED_KINDS: readonly ShapedKind[] = [
  creditCard,
  ...AMERICAS,
  ...WESTERN_EUROPE,
  ...OTHER_EUROPE,
  ...ASIA_PACIFIC_AFRICA,
  ...IN_CONTEXT,
];

/** A kind that has a finder of its own. */
export interface OtherKind {
  readonly name: string;
  readonly title: string;
  readonly source: string;
  /** Scores without anything around it that tells more, from the most to the least certain form. */
  readonly scores: readonly number[];
  readonly context: readonly string[];
}

export const EMAIL: OtherKind = {
  name: 'email',
  title: 'E-mail address: a local part, and a domain of at least two labels',
  source: 'RFC 5321 4.1.2 and RFC 6531, without quoted local parts and address literals',
  scores: [0.9, 0.4],
  context: ['email', 'e-mail', 'mail', 'mailto', 'correo', 'courriel', 'adresse'],
};

export const IBAN: OtherKind = {
  name: 'iban',
  title: 'International bank account number: length of the country, ISO/IEC 7064 MOD 97-10',
  source: 'ISO 13616-1; SWIFT IBAN Registry',
  scores: [0.95, 0.85],
  context: ['iban', 'account', 'konto', 'kontonummer', 'compte', 'cuenta', 'conto', 'rekening'],
};

export const PHONE: OtherKind = {
  name: 'phone',
  title: 'Telephone number that is valid in the numbering plan of a region',
  source: 'ITU-T E.164; the metadata of libphonenumber',
  scores: [0.85, 0.6, 0.2],
  context: [
    'phone',
    'telephone',
    'tel',
    'mobile',
    'cell',
    'cellphone',
    'call',
    'fax',
    'whatsapp',
    'sms',
    'telefon',
    'telefonnummer',
    'handy',
    'mobil',
    'mobilnummer',
    'rufnummer',
    'anrufen',
    'téléphone',
    'telephone',
    'portable',
    'appeler',
    'teléfono',
    'telefono',
    'móvil',
    'celular',
    'telefone',
    'cellulare',
    'telefoon',
    'puhelin',
    'тел',
    'телефон',
    '电话',
    '手机',
    '電話',
    '전화',
  ],
};

export const IP_ADDRESS: OtherKind = {
  name: 'ip_address',
  title: 'IPv4 or IPv6 address; loopback, unspecified and private ones score lower',
  source: 'RFC 791, RFC 4291 and RFC 5952; special ranges of RFC 6890',
  scores: [0.8, 0.6, 0.3, 0.1],
  context: ['ip', 'ipv4', 'ipv6', 'address', 'client', 'remote', 'host', 'adresse', 'dirección', 'indirizzo'],
};

export const MAC_ADDRESS: OtherKind = {
  name: 'mac_address',
  title: 'Hardware address of 48 bits, in six pairs of hexadecimal digits',
  source: 'IEEE 802; RFC 9542',
  scores: [0.7],
  context: ['mac', 'hwaddr', 'ether', 'bssid', 'hardware'],
};

/** All kinds with finders of their own. */
export const OTHER_KINDS: readonly OtherKind[] = [IBAN, EMAIL, PHONE, IP_ADDRESS, MAC_ADDRESS];

/** Names of all kinds. */
export const KIND_NAMES: readonly string[] = [...SHAPED_KINDS, ...OTHER_KINDS].map(({ name }) => name);
