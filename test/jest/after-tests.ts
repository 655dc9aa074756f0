import { stopAll } from '../support/stop-at-end';

afterAll(stopAll);
