import { formatShare } from "../format.js";
import type { Kpis } from "../operations.js";
import { Bar } from "./Bar.js";

/** Reported devices may be anything; beyond these few they are summed up. */
const shownMax = 6;

/** The share of each device among viewers, largest first. */
export function Devices({ devices }: { readonly devices: Kpis["devices"] }) {
  const others = devices.slice(shownMax).reduce((sum, { value }) => sum + value, 0);
  const shown = others > 0 ? [...devices.slice(0, shownMax), { device: "all others", value: others }] : devices;
  return (
    <section class="card" aria-labelledby="devices-heading">
      <h2 id="devices-heading">Devices</h2>
      <table class="ranking">
        <thead class="hidden">
          <tr>
            <th scope="col">Device</th>
            <th scope="col">Share of viewers</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ device, value }) => (
            <tr key={device}>
              <th scope="row">
                <span class="name device">{device}</span>
                <Bar share={value / 100} />
              </th>
              <td>{formatShare(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
