module example.com/stepup

go 1.19
