#!/usr/bin/env node
import 'reflect-metadata';
import { reportFailure } from './cli/failure';
import { buildProgram } from './cli/program';

async function main(): Promise<void> {
  await buildProgram().parseAsync().catch(reportFailure);
  // Without this call, a client of a Redis that is down would keep the process alive for seconds.
  process.exit();
}

void main();
