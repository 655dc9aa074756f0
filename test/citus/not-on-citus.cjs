/**
 * Tests of the end-to-end and integration suites that do not run on Citus, by file and full name, each with
 * its reason. A name that no test has fails its file.
 *
 * @type {Record<string, Record<string, string>>}
 */
module.exports = {
  'test/database/tenancy.spec.ts': {
    'migrations go down one by one until nothing is left, and up again to the same schema':
      'divided tables keep the look-ups: test/citus/schema.spec.ts takes the other migrations down and up',
    'migrations are applied once by two that start together':
      'it takes the last migration down, as the one above',
  },
  'test/database/pipelined-reads.spec.ts': {
    'Reads that are asked in one tick share a connection, and each has its own answer':
      'each has a connection of its own there: test/citus/nodes.spec.ts',
  },
  'test/metrics/metrics.spec.ts': {
    'of the API are there while the database does not answer, except for what only it knows':
      'it locks a table of the coordinator, which holds up no search on the nodes',
  },
  'test/operations/retention.spec.ts': {
    'retention of many rows looks at no row twice, nor at young ones':
      "it reads one server's statistics of an index; the statement is the same on each node",
  },
  'test/webhooks/rate-and-order.spec.ts': {
    'the rate of an endpoint changes no row of what must wait for it, and keeps the order of what is due':
      'its trigger writes into a table that no node has',
  },
};
