/// The page as a whole: text, bar, columns, tables.
enum StylesheetLayout {
    static let text = """
        *, *::before, *::after { box-sizing: border-box; }
        body {
          margin: 0; background: var(--ground); color: var(--ink);
          font: 15px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
          font-variant-numeric: tabular-nums; -webkit-text-size-adjust: 100%;
        }
        a { color: var(--link); }
        :focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
        .skip { position: absolute; left: -999px; }
        .skip:focus { left: 8px; top: 8px; background: var(--panel); padding: 8px 12px; z-index: 1; }
        .unseen { position: absolute; width: 1px; height: 1px; margin: 0; overflow: hidden; clip-path: inset(50%); }
        .clock.warn::after { content: " (not refreshed)"; }
        html { overflow-anchor: none; }
        .bar {
          display: flex; align-items: center; gap: 16px; padding: 8px 16px; background: var(--panel);
          border-bottom: 1px solid var(--line);
        }
        .brand { font-weight: 650; color: var(--ink); text-decoration: none; padding: 6px 0; }
        .clock { color: var(--soft); flex: 1; }
        .person { display: flex; align-items: center; gap: 12px; margin: 0; color: var(--soft); }
        .sub { flex-wrap: wrap; gap: 4px 20px; padding: 2px 16px; }
        .sub a { color: var(--ink); text-decoration: none; padding: 11px 0; }
        .sub a:hover { text-decoration: underline; }
        .search { display: flex; gap: 12px; flex: 1 1 220px; justify-content: flex-end; }
        .search input { flex: 0 1 320px; }
        input[type="search"], .fields input:not([type="radio"]), .fields select {
          font: inherit; min-height: 44px; padding: 0 12px; border: 1px solid var(--soft); border-radius: 5px; background: var(--ground);
          color: var(--ink); min-width: 0;
        }
        main { max-width: 1120px; margin: 0 auto; padding: 16px; }
        h1, h2, h3, p, dl, ul, ol, pre, table { margin: 0; }
        h1 { font-size: 22px; line-height: 1.25; font-weight: 650; overflow-wrap: anywhere; }
        h2 { font-size: 16px; line-height: 1.3; font-weight: 650; overflow-wrap: anywhere; }
        h3 { font-size: 14px; font-weight: 650; margin-top: 12px; }
        .soft { color: var(--soft); }
        .small { font-size: 13px; }
        .warn { color: var(--warn); font-weight: 600; }
        .detail { display: block; color: var(--soft); font-size: 13px; overflow-wrap: anywhere; }
        .back { margin-bottom: 12px; }
        .columns { display: grid; gap: 16px; grid-template-columns: minmax(0, 1fr); }
        .panels > .panel { break-inside: avoid; margin-bottom: 16px; }
        .columns > div { display: grid; gap: 16px; align-content: start; grid-template-columns: minmax(0, 1fr); }
        .panel { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: 14px 16px; min-width: 0; }
        .panel > * + *, .state > * + * { margin-top: 8px; }
        .scroll { overflow-x: auto; }
        table { border-collapse: collapse; width: 100%; font-size: 14px; }
        th { text-align: left; font-weight: 500; color: var(--soft); font-size: 13px; }
        th, td { padding: 5px 12px 5px 0; border-bottom: 1px solid var(--grid); vertical-align: top; }
        th:last-child, td:last-child { padding-right: 0; }
        tbody tr:last-child td { border-bottom: 0; }
        td { overflow-wrap: anywhere; }
        .n, .legendTable td { text-align: right; white-space: nowrap; }
        .legendTable td:first-child { text-align: left; }
        td a { display: inline-block; padding: 3px 0; }
        details > summary { cursor: pointer; color: var(--link); padding: 6px 0; }
        pre {
          overflow-x: auto; background: var(--ground); border: 1px solid var(--line); border-radius: 4px; padding: 10px 12px;
          font: 13px/1.45 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
        }
        code { font: 0.92em ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
        pre code { font: inherit; overflow-wrap: normal; }
        button {
          font: inherit; font-weight: 600; color: var(--on-button); background: var(--button); border: 0; border-radius: 5px;
          padding: 0 18px; min-height: 44px; cursor: pointer;
        }
        button.plain { color: var(--link); background: none; font-weight: 400; padding: 0; }
        form { margin: 0; }
        .fields { display: grid; gap: 10px; margin-top: 12px; max-width: 560px; }
        fieldset { border: 1px solid var(--line); border-radius: 5px; margin: 0; padding: 6px 12px; display: flex; flex-wrap: wrap; gap: 4px 20px; }
        fieldset label { display: flex; align-items: center; gap: 6px; min-height: 40px; }
        main > .panel { margin-bottom: 16px; }
        .foot { max-width: 1120px; margin: 0 auto; padding: 0 16px 16px; }
        .foot a { display: inline-block; padding: 8px 0; color: var(--soft); }
        .whole { white-space: nowrap; }
        meter { width: 96px; height: 12px; }
        @media (min-width: 860px) {
          main { padding: 24px; }
          .foot { padding: 0 24px 24px; }
          .panels { columns: 2; column-gap: 16px; }
          .columns { grid-template-columns: minmax(0, 1.25fr) minmax(0, 1fr); align-items: start; }
        }
        @media (max-width: 560px) {
          .wide { display: none; }
          .bar { gap: 12px; padding: 4px 16px; }
          main { padding: 12px; }
          .panel { padding: 12px; }
          th, td { padding-right: 8px; }
          .stack thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
          .stack tr { display: grid; grid-template-columns: repeat(auto-fit, minmax(84px, 1fr)); gap: 4px 12px; padding: 8px 0; border-bottom: 1px solid var(--grid); }
          .stack tr:last-child { border-bottom: 0; }
          .stack td { padding: 0; border: 0; text-align: left; white-space: normal; }
          .stack td:first-child, .stack td.line { grid-column: 1 / -1; }
          .stack td[data-name]::before { content: attr(data-name); display: block; color: var(--soft); font-size: 13px; }
        }

        """
}
