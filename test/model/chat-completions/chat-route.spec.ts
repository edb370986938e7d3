import { expect } from 'chai';
import { endpointOf } from '../../../src/model/chat-completions/chat-route.js';

describe('endpointOf', () => {
  const cases: readonly (readonly [baseURL: string, url: string, base: string, secrets: readonly string[]])[] = [
    ['https://host', 'https://host/chat/completions', 'https://host', []],
    ['https://host/', 'https://host/chat/completions', 'https://host', []],
    ['http://host:8080/v1//', 'http://host:8080/v1/chat/completions', 'http://host:8080/v1', []],
    ['https://host/v1#part', 'https://host/v1/chat/completions', 'https://host/v1', []],
    [
      'https://host/v1/?version=2026&key=0123456789%2F',
      'https://host/v1/chat/completions?version=2026&key=0123456789%2F',
      'https://host/v1',
      ['0123456789/', '0123456789%2F'],
    ],
  ];
  for (const [baseURL, url, base, secrets] of cases) {
    it(`of ${baseURL} keeps path and query, and says what is secret`, () => {
      const endpoint = endpointOf(baseURL);
      expect(endpoint.url.href).to.equal(url);
      expect(endpoint).to.deep.include({ base, secrets });
    });
  }
});
