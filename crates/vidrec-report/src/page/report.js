// A report begins when its script does: all is in the page. It shows first what somebody should look at.

if (!report.findings?.length) views = ["overview", "clips", "findings"];
drawOverview();
start();
