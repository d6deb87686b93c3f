import { useState } from "preact/hooks";
import { fillBuckets, type TimelineRange } from "../../buckets.js";
import { saveTimeline, ExportButton } from "../ExportButton.js";
import { moneyFormat } from "../../format.js";
import { usePage, ConnectionNotice } from "../ConnectionNotice.js";
import { type Figures, useShow } from "../../hooks/useShow.js";
import { type TopProductFigure, type ShowAnalytics, saveShowMutation, savedShowQuery } from "../../queries/show.js";
import { Segments, Skeleton, FormDialog, useForm } from "../Elements.js";
import { KpiTiles } from "./KpiTiles.js";
import { Devices, TopProducts } from "./Rankings.js";
import { ShowOrders } from "./ShowOrders.js";
import { ShowHeader } from "./ShowHeader.js";
import { Timeline } from "./Timeline.js";
import { query } from "../../connection/api.js";
import { asFailure } from "../../connection/failure.js";

interface Props {
  readonly token: string;
  readonly lsId: string;
  readonly mayWrite: boolean;
  readonly onTokenEnd: () => void;
}

export function Show({ token, lsId, mayWrite, onTokenEnd }: Props) {
  const [range, setRange] = useState<TimelineRange>("show");
  const [by, setBy] = useState<TopProductFigure>("carts");
  const { figures, connection } = useShow(token, { lsId, range, by });
  usePage(figures === undefined ? "Vitrine dashboard" : `${figures.analytics.name} – Vitrine`, connection, onTokenEnd);
  return (
    <>
      {figures === undefined && <h1 class="hidden">Live show</h1>}
      {figures !== undefined && (
        <ShowHeader {...figures} connection={connection}>
          <Controls {...figures} token={token} lsId={lsId} mayWrite={mayWrite} />
        </ShowHeader>
      )}
      <ConnectionNotice
        connection={connection}
        hasFigures={figures !== undefined}
        isPolled={figures?.isPolled === true}
      />
      {figures === undefined ? (
        connection.phase === "connecting" && <Skeleton label="Loading the show" tiles={6} />
      ) : (
        <Body figures={figures} range={range} onRange={setRange} by={by} onBy={setBy} token={token} lsId={lsId} />
      )}
    </>
  );
}

type ControlsProps = Figures & Pick<Props, "token" | "lsId" | "mayWrite">;

function Controls({ analytics: { name, status, timeline }, span, token, lsId, mayWrite }: ControlsProps) {
  return (
    <>
      {status !== "SCHEDULED" && <ExportButton save={() => saveTimeline(lsId, fillBuckets(timeline, span))} />}
      {mayWrite && <ShowControl token={token} lsId={lsId} name={name} status={status} />}
    </>
  );
}

const productFigures = [
  ["carts", "Carts"],
  ["orders", "Orders"],
  ["sales", "Sales"],
] as const;

interface BodyProps extends Pick<Props, "token" | "lsId"> {
  readonly figures: Figures;
  readonly range: TimelineRange;
  readonly onRange: (range: TimelineRange) => void;
  /** The figure by which the products are ordered. */
  readonly by: TopProductFigure;
  readonly onBy: (by: TopProductFigure) => void;
}

function Body({ figures, range, onRange, by, onBy, token, lsId }: BodyProps) {
  const { analytics, span, withCatalog } = figures;
  const { kpis, status, topProducts, moments } = analytics;
  if (status === "SCHEDULED") {
    return <p class="empty card muted">This show is scheduled. Figures appear here once it is live.</p>;
  }
  const isEmpty = kpis.viewers.total === 0 && kpis.orders.total === 0 && moments.length === 0;
  return (
    <>
      <KpiTiles kpis={kpis} />
      {isEmpty ? (
        <p class="empty card muted">Nothing has happened in this show yet. Figures appear here as events arrive.</p>
      ) : (
        <>
          <Timeline analytics={analytics} span={span} range={range} onRange={onRange} token={token} lsId={lsId} />
          <div class="pair">
            <TopProducts
              products={topProducts}
              by={figures.by}
              withCatalog={withCatalog}
              formatMoney={moneyFormat(kpis.sales.currency)}
            >
              <Segments legend="Figure of the products" options={productFigures} value={by} onChange={onBy} />
            </TopProducts>
            <Devices devices={kpis.devices} />
          </div>
          <ShowOrders token={token} lsId={lsId} currency={kpis.sales.currency} count={kpis.orders.total} />
        </>
      )}
    </>
  );
}

interface ControlProps extends Pick<ShowAnalytics, "name" | "status"> {
  readonly token: string;
  readonly lsId: string;
}

const steps = {
  SCHEDULED: { action: "Start", next: "LIVE", says: "The show starts now, and its viewers are counted from now on." },
  LIVE: { action: "End", next: "ENDED", says: "The show ends now. From now on, viewers see its replay." },
} as const;
type Step = (typeof steps)[keyof typeof steps];

/** After a question, starts a scheduled show, or ends a running one. */
function ShowControl({ status, ...show }: ControlProps) {
  const [asked, setAsked] = useState<Step>();
  const step = status === "SCHEDULED" || status === "LIVE" ? steps[status] : undefined;
  return (
    <>
      {step !== undefined && (
        <button type="button" aria-haspopup="dialog" onClick={() => setAsked(step)}>
          {step.action} show
        </button>
      )}
      {asked !== undefined && <Question {...show} step={asked} onClose={() => setAsked(undefined)} />}
    </>
  );
}

interface QuestionProps extends Omit<ControlProps, "status"> {
  readonly step: Step;
  readonly onClose: () => void;
}

function Question({ token, lsId, name, step, onClose }: QuestionProps) {
  const form = useForm(async () => {
    const problem = await stepProblem(lsId, step, token);
    if (problem === undefined) onClose();
    return problem;
  });
  const heading = (
    <>
      {step.action} <bdi>{name}</bdi>?
    </>
  );
  return (
    <FormDialog name="show-control" heading={heading} action={`${step.action} now`} form={form} onClose={onClose}>
      <p class="muted">{step.says}</p>
    </FormDialog>
  );
}

/** Saves the show with its next status, and everything else unchanged. @returns why it was not saved */
async function stepProblem(lsId: string, { next }: Step, token: string): Promise<string | undefined> {
  try {
    const { liveStream: saved } = await query(savedShowQuery, { lsId }, { token });
    if (saved === null) throw asFailure(undefined); // the query has thrown the error that says why
    const { status, startedAt, ...same } = saved;
    if (status === next) return undefined; // another user was faster
    const now = new Date();
    const durationSeconds = Math.max(0, Math.floor((now.getTime() - Date.parse(startedAt)) / 1_000));
    const times = next === "LIVE" ? { startedAt: now.toISOString() } : { startedAt, durationSeconds };
    await query(saveShowMutation, { liveStream: { ...same, ...times, status: next } }, { token });
    return undefined;
  } catch (error) {
    return asFailure(error).message;
  }
}
