import { expect } from 'chai';

/** What `promise` rejects with; that it resolves is a failure of the test. */
export async function rejectionOf(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    (value) => expect.fail(`resolved with ${JSON.stringify(value)}`),
    (thrown: Error) => thrown,
  );
}
