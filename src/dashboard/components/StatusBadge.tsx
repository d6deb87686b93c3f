import type { LiveStreamStatus } from "../../generated/dashboard/graphql.js";

const labels: Readonly<Record<LiveStreamStatus, string>> = { LIVE: "Live", ENDED: "Ended", ARCHIVED: "Archived" };

export function StatusBadge({ status }: { readonly status: LiveStreamStatus }) {
  return <span class={`badge ${status.toLowerCase()}`}>{labels[status]}</span>;
}
