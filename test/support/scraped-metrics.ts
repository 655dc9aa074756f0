import { AddressInfo } from 'node:net';
import axios from 'axios';
import { MetricsServer } from '../../src/operations/metrics/metrics-server';
import { TestService } from './service';

/** Returns the address of the metrics of a service, which needs `METRICS_PORT`. */
export function metricsAddressOf(service: TestService): AddressInfo {
  return service.app.get(MetricsServer).address as AddressInfo;
}

export async function scrape(service: TestService): Promise<string> {
  const { data } = await axios.get<string>(`http://127.0.0.1:${metricsAddressOf(service).port}/metrics`, {
    proxy: false,
  });
  return data;
}

/** Returns the value of a series, named as Prometheus shows it; 0 while it does not exist. */
export async function readMetric(service: TestService, series: string): Promise<number> {
  const line = (await scrape(service)).split('\n').find((one) => one.startsWith(`${series} `));
  return line ? Number(line.slice(series.length + 1)) : 0;
}
