// A report begins when its script does: all is in the page.

drawOverview();
start();
